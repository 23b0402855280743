package textdiff

// block is a run of marked lines [start, end) of one side, or the empty place between two unmarked ones.
type block struct{ start, end int }

func (r *block) grow(marks []bool) {
	for r.end < len(marks) && marks[r.end] {
		r.end++
	}
	for r.start > 0 && marks[r.start-1] {
		r.start--
	}
}

// next goes to the run behind the unmarked line that ends this one; false: there is none.
func (r *block) next(marks []bool) bool {
	if r.end >= len(marks) {
		return false
	}
	r.start, r.end = r.end+1, r.end+1
	r.grow(marks)
	return true
}

// back goes to the run before the unmarked line ahead of this one.
func (r *block) back(marks []bool) {
	if r.start > 0 {
		r.start, r.end = r.start-1, r.start-1
		r.grow(marks)
	}
}

// up moves the run by a line, where the line that it gains equals the one that it loses, and takes in a run that it
// meets.
func (r *block) up(ids []int, marks []bool) bool {
	if r.start == 0 || ids[r.start-1] != ids[r.end-1] {
		return false
	}
	r.start, r.end = r.start-1, r.end-1
	marks[r.start], marks[r.end] = true, false
	r.grow(marks)
	return true
}

// down is up in the other direction.
func (r *block) down(ids []int, marks []bool) bool {
	if r.end == len(ids) || ids[r.start] != ids[r.end] {
		return false
	}
	marks[r.start], marks[r.end] = false, true
	r.start, r.end = r.start+1, r.end+1
	r.grow(marks)
	return true
}

// settle moves the runs of one side whose place is ambiguous to where git has them for a merge: beside a run of the
// other side, the last one that they can reach, else down as far as they go. Two texts with the same change from a
// third then have it in the same place, which what slide does for readers does not promise. The script stays as long as
// it was.
func settle(ids []int, marks, other []bool) {
	var r, o block
	r.grow(marks)
	o.grow(other)
	for {
		if r.start < r.end {
			settleRun(ids, marks, other, &r, &o)
		}
		if !r.next(marks) {
			return
		}
		o.next(other)
	}
}

// settleRun settles one run; o is the place on the other side where it stands.
func settleRun(ids []int, marks, other []bool, r, o *block) {
	reaches := false // a run of the other side
	for size := -1; size != r.end-r.start; {
		size = r.end - r.start
		for r.up(ids, marks) {
			o.back(other)
		}
		reaches = o.start < o.end
		for r.down(ids, marks) {
			o.next(other)
			reaches = reaches || o.start < o.end
		}
	}
	for reaches && o.start == o.end {
		if !r.up(ids, marks) {
			return
		}
		o.back(other)
	}
}
