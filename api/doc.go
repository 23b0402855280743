// Package api is the only way in: the types of requests and responses, the routes, and the client. A request is one
// HTTP exchange with a JSON body. The response is a stream of JSON lines: any number of progress lines, then one result
// or one error (Line). Only Cat answers with a file's bytes.
//
// Field names are snake_case and are never renamed or reused; new ones may appear, so readers ignore what they do not
// know. Times are RFC 3339, sizes are bytes, ids are 64 hex digits.
package api
