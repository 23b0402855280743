package hooks

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Register returns the settings file with the hooks of want in it and no other hook of ours. A blank or absent file is
// an empty object.
//
// Nothing else changes by a byte. What is there already stays where it is, and then the bytes returned are those of
// file itself. An unwanted hook of ours gives its place to a wanted one, first of the same event and matcher, then of
// the same event. Unwanted hooks that are left over are removed. New ones become a group at the end of their event.
// Positions matter: Codex keeps the user's trust by index.
//
// A file that cannot be read, or is not of the known shape where the wanted events are, is refused with the line and
// column.
func Register(agent Agent, file []byte, want []Registration) ([]byte, error) {
	for _, w := range want {
		if !utf8.ValidString(w.Event) || !utf8.ValidString(w.Matcher) || !utf8.ValidString(w.Command) {
			return nil, fmt.Errorf("hooks: register %q: not UTF-8, a settings file cannot hold it", w.Command)
		}
		if !isOurs(w.Command) {
			return nil, fmt.Errorf("hooks: register %q: the command does not name %s, it could not be found again", w.Command, program)
		}
	}
	s, err := parseSettings(agent, file)
	if err != nil {
		return nil, err
	}
	found, err := s.entries(func(event string) bool {
		return slices.ContainsFunc(want, func(w Registration) bool { return w.Event == event })
	})
	if err != nil {
		return nil, err
	}
	if !s.edit(found, want, nil) {
		return file, nil
	}
	return s.pack(), nil
}

// Unregister returns the settings file without the hooks of ours. Backup is the file as it was before the first
// Register, nil when there was none or it is not known.
//
// When nothing else has changed since, the result is backup itself, byte for byte; nil means that the file was made by
// Register and can go. Otherwise our hooks are cut out of the file as it is now, with the groups, events and "hooks"
// that hold nothing else and that backup does not have either.
func Unregister(agent Agent, file, backup []byte) ([]byte, error) {
	s, err := parseSettings(agent, file)
	if err != nil {
		return nil, err
	}
	found, err := s.entries(never)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return file, nil
	}
	old, err := parseSettings(agent, backup)
	if err != nil {
		old = nil // a backup that cannot be read says nothing
	} else if ours, err := old.entries(never); err == nil && len(ours) == 0 {
		if again, err := Register(agent, backup, registrations(found)); err == nil && bytes.Equal(again, file) {
			return backup, nil
		}
	}
	s.edit(found, nil, old)
	return s.pack(), nil
}

// Registered returns the hooks of ours in the order of the file.
func Registered(agent Agent, file []byte) ([]Registration, error) {
	s, err := parseSettings(agent, file)
	if err != nil {
		return nil, err
	}
	found, err := s.entries(never)
	return registrations(found), err
}

func never(string) bool { return false }

func registrations(found []entry) []Registration {
	var rs []Registration
	for _, e := range found {
		rs = append(rs, e.Registration)
	}
	return rs
}

// edit turns found into want and reports whether that changed anything.
func (s *settings) edit(found []entry, want []Registration, old *settings) bool {
	take := func(fits func(*entry) bool) *entry {
		for i := range found {
			if e := found[i]; fits(&e) {
				found = slices.Delete(found, i, i+1)
				return &e
			}
		}
		return nil
	}
	found, want = slices.Clone(found), slices.Clone(want)
	want = slices.DeleteFunc(want, func(w Registration) bool {
		return take(func(e *entry) bool { return e.whole && e.Registration == w }) != nil
	})
	if len(found) == 0 && len(want) == 0 {
		return false
	}
	st := styleOf(s)
	for _, fits := range []func(*entry, Registration) bool{
		func(e *entry, w Registration) bool { return e.Event == w.Event && e.Matcher == w.Matcher },
		func(e *entry, w Registration) bool { return e.Event == w.Event && len(e.handlers.Elements) == 1 },
	} {
		want = slices.DeleteFunc(want, func(w Registration) bool {
			e := take(func(e *entry) bool { return fits(e, w) })
			if e != nil {
				st.rewrite(e, w)
			}
			return e != nil
		})
	}
	for _, w := range want {
		s.add(st, w)
	}
	for _, e := range found {
		s.cut(st, e, old)
	}
	return true
}

// rewrite makes an entry say what w says.
func (st style) rewrite(e *entry, w Registration) {
	p := indentation{inline: true} // a member that is new goes where the others are
	st.set(e.handler, p, "type", hujson.String("command"))
	st.set(e.handler, p, "command", hujson.String(w.Command))
	st.set(e.handler, p, "timeout", timeout(w))
	if e.Matcher != w.Matcher {
		st.set(e.group, p, "matcher", matcher(w))
	}
}

func timeout(w Registration) hujson.ValueTrimmed {
	if w.Timeout == 0 {
		return nil
	}
	return hujson.Int(int64(w.Timeout))
}

func matcher(w Registration) hujson.ValueTrimmed {
	if w.Matcher == "" {
		return nil
	}
	return hujson.String(w.Matcher)
}

// add appends a group to the event, which is made when there is none.
func (s *settings) add(st style, w Registration) {
	at := indentation{}
	root := s.root.Value.(*hujson.Object)
	if s.events == nil {
		s.events = &hujson.Object{}
		st.add(root, at, "hooks", func(indentation) hujson.ValueTrimmed { return s.events })
	}
	if s.events != root {
		at = at.of(root, "hooks")
	}
	if !slices.ContainsFunc(s.events.Members, func(m hujson.ObjectMember) bool { return name(&m) == w.Event }) {
		st.add(s.events, at, w.Event, func(indentation) hujson.ValueTrimmed { return &hujson.Array{} })
	}
	i := slices.IndexFunc(s.events.Members, func(m hujson.ObjectMember) bool { return name(&m) == w.Event })
	at = at.within(members{s.events}, i)
	st.push(s.events.Members[i].Value.Value.(*hujson.Array), at, func(p indentation) hujson.ValueTrimmed {
		group := &hujson.Object{}
		st.set(group, p, "matcher", matcher(w))
		st.add(group, p, "hooks", func(p indentation) hujson.ValueTrimmed {
			handlers := &hujson.Array{}
			st.push(handlers, p, func(p indentation) hujson.ValueTrimmed {
				handler := &hujson.Object{}
				st.set(handler, p, "type", hujson.String("command"))
				st.set(handler, p, "command", hujson.String(w.Command))
				st.set(handler, p, "timeout", timeout(w))
				return handler
			})
			return handlers
		})
		return group
	})
}

// of returns the indentation of the value of key in o, which is at p and has it.
func (p indentation) of(o *hujson.Object, key string) indentation {
	return p.within(members{o}, slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return name(&m) == key }))
}

// cut removes an entry, and then its group, its event and "hooks" as far as they are empty by that, hold no comment and
// are not in old.
func (s *settings) cut(st style, e entry, old *settings) {
	at := slices.IndexFunc(e.handlers.Elements, func(v hujson.Value) bool { return v.Value == e.handler })
	st.drop(elements{e.handlers}, at)
	if len(e.handlers.Elements) > 0 {
		return
	}
	at = slices.IndexFunc(e.groups.Elements, func(v hujson.Value) bool { return v.Value == e.group })
	foreign := slices.ContainsFunc(e.group.Members,
		func(m hujson.ObjectMember) bool { return name(&m) != "hooks" && name(&m) != "matcher" })
	if foreign || !hasNoComment(&e.groups.Elements[at]) {
		return
	}
	st.drop(elements{e.groups}, at)
	if len(e.groups.Elements) > 0 || len(e.groups.AfterExtra) > 0 || old.has(e.Event) {
		return
	}
	root := s.root.Value.(*hujson.Object)
	if !st.dropMember(s.events, e.groups) || len(s.events.Members) > 0 || len(s.events.AfterExtra) > 0 {
		return
	}
	if was := old != nil && old.events != nil; was || s.events == root {
		return
	}
	if st.dropMember(root, s.events) {
		s.events = nil
	}
}

// has reports whether the file has the event.
func (s *settings) has(event string) bool {
	return s != nil && s.events != nil && slices.ContainsFunc(s.events.Members,
		func(m hujson.ObjectMember) bool { return name(&m) == event })
}
