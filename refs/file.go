package refs

import (
	"fmt"

	"rewind/internal/record"
)

// Encode gives the file's record, which operations and journals have in common.
func (f *File) Encode() []byte {
	var e record.Encoder
	e.String(tagFilePath, f.Path)
	e.NonZero(tagFileFrom, f.From[:])
	e.NonZero(tagFileTo, f.To[:])
	return e.Encoded()
}

// DecodeFile is the inverse of Encode.
func DecodeFile(raw record.Field) (File, error) {
	var file File
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagFilePath:
			file.Path = string(f)
		case tagFileFrom:
			return f.NonZero(file.From[:])
		case tagFileTo:
			return f.NonZero(file.To[:])
		default:
			return record.Unknown(tag)
		}
		return nil
	})
	if err == nil && (!isFilePath(file.Path) || file.From == file.To) {
		err = fmt.Errorf("%w: session file %.100q without a path or a change", record.ErrFormat, file.Path)
	}
	return file, err
}
