package kv

// Rest gives up what the block cache holds, but for its hottest blocks (restCache bytes of them): a store that was just opened has filled it with blocks that
// nobody reads again. It may fill anew. The memtables count into the cache, so it may have nothing to give.
func (d *DB) Rest() {
	if d.life.enter() != nil {
		return
	}
	defer d.life.leave()
	if n := d.o.CacheBytes - restCache; n > 0 && d.blocks != nil {
		d.blocks.Reserve(int(n))()
	}
}
