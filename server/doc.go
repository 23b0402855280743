// Package server answers the API's requests with the engine: it translates types and errors and decides nothing.
package server
