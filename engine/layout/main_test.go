package layout_test

import (
	"testing"

	"rewind/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }
