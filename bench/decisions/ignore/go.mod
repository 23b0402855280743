module rewind/bench/decisions/ignore

go 1.26.0

require (
	github.com/sabhiram/go-gitignore v0.0.0-20210923224102-525f6e181f06
	rewind v0.0.0
)

replace rewind => ../../..
