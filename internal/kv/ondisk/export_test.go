package ondisk

// OldestLog is for the test that asks pebble.
var OldestLog = oldestLog
