package kv

import (
	"context"
	"errors"
)

// CheckTables is Verify with all findings in one error.
func (d *DB) CheckTables(ctx context.Context) error {
	var all []error
	err := d.Verify(ctx, func(e error) { all = append(all, e) })
	return errors.Join(append(all, err)...)
}
