// Package ondisk is the files of a store's database as bytes: what is known of pebble's logs, tables and MANIFEST
// without its database around them.
//
// It finds damage that pebble would take for the torn end of a crash ([CheckLogs], [CheckManifest]). For this it uses
// two files beside pebble's own, which say how far those are on disk ([LogOffsets], [ManifestOffsetFile]). It checks
// the blocks of tables as they are read ([Table], [BadBlocks]). It reads all that damaged tables and logs still hold
// ([Salvage]). It writes nothing but small files, for whoever asks ([WriteSmall]).
//
// Damage is a [CorruptError] that names the file. Other errors are the file system's, as they are.
package ondisk
