// Package ondisk is the files of a store's database as bytes: what is known of pebble's logs, tables and MANIFEST
// without its database around them.
//
// It finds what pebble would take for the torn end of a crash and is damage ([CheckLogs], [CheckManifest]), from two
// files that are written beside pebble's own and say how far these are on disk ([LogOffsets], [ManifestOffsetFile]);
// checks the blocks of tables as they are read ([Table], [BadBlocks]); and reads all that damaged tables and logs still
// hold ([Salvage]). It writes nothing but small files, for whoever asks ([WriteSmall]).
//
// Damage is a [CorruptError] that names the file. Other errors are the file system's, as they are.
package ondisk
