//go:build !linux

package snapshot

// notifier is never made on this system.
type notifier struct{}

func newNotifier() (*notifier, error) { return nil, ErrNoWatcher }

func (*notifier) add(string, bool) (int32, error) { return 0, ErrNoWatcher }

func (*notifier) remove(int32) {}

func (*notifier) drain(func(report)) error { return ErrNoWatcher }

func (*notifier) listen(func() bool) {}

func (*notifier) stop() {}

func (*notifier) close() {}
