package refs

import "rewind/internal/record"

// Encode gives the file's record, which operations and journals have in common.
func (f *File) Encode() []byte { return fileTable.Encode(f) }

// DecodeFile is the inverse of Encode.
func DecodeFile(raw record.Field) (File, error) {
	var file File
	err := fileTable.Decode(raw, &file)
	return file, err
}
