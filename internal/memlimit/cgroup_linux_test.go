package memlimit

import (
	"testing"
	"testing/fstest"
)

const (
	mb      = 1 << 20
	noBound = "9223372036854771712\n" // what the first version has for none
)

// system is a machine in files.
func system(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestBounds(t *testing.T) {
	const (
		two     = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		one     = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
		oneHost = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	)
	for _, c := range []struct {
		name         string
		groups, info string
		files        map[string]string
		want         Limit
	}{
		{"nothing known", "", "", nil, Limit{}},
		{"second version, own group", "0::/a\n", two, map[string]string{
			"sys/fs/cgroup/a/memory.max":    "104857600\n",
			"sys/fs/cgroup/a/memory.events": "low 0\noom 3\noom_kill 2\noom_group_kill 0\n",
		}, Limit{100 * mb, 2}},
		{"second version, a group above is smaller", "0::/a/b/c\n", two, map[string]string{
			"sys/fs/cgroup/a/memory.max": "52428800\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
			"sys/fs/cgroup/a/b/c/memory.max": "104857600\n",
		}, Limit{50 * mb, 0}},
		{"second version, a group above is larger", "0::/a/b\n", two, map[string]string{
			"sys/fs/cgroup/a/memory.max": "524288000\n", "sys/fs/cgroup/a/b/memory.max": "104857600\n",
		}, Limit{100 * mb, 0}},
		{"second version, high below max", "0::/a\n", two, map[string]string{
			"sys/fs/cgroup/a/memory.max": "104857600\n", "sys/fs/cgroup/a/memory.high": "83886080\n",
		}, Limit{80 * mb, 0}},
		{"second version, no bound", "0::/a\n", two, map[string]string{"sys/fs/cgroup/a/memory.max": "max\n"}, Limit{}},
		{
			"second version, a namespace of its own", "0::/\n", two,
			map[string]string{"sys/fs/cgroup/memory.max": "104857600\n"},
			Limit{100 * mb, 0},
		},
		{
			"second version, mounted above the namespace", "0::/\n",
			"29 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			map[string]string{"sys/fs/cgroup/memory.max": "104857600\n"},
			Limit{100 * mb, 0},
		},
		{"first version", "4:memory:/a/b\n3:cpu:/\n", one, map[string]string{
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     noBound,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   noBound,
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "104857600\n",
			"sys/fs/cgroup/memory/a/b/memory.oom_control":    "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n",
		}, Limit{100 * mb, 7}},
		{
			"first version, no bound", "4:memory:/a\n", one,
			map[string]string{"sys/fs/cgroup/memory/a/memory.limit_in_bytes": noBound},
			Limit{},
		},
		{"first version, in a container with the host's names", "4:memory:/docker/abc/x\n", oneHost, map[string]string{
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "52428800\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": noBound,
		}, Limit{50 * mb, 0}},
		{
			"first version, in a container's topmost", "4:cpu,memory:/docker/abc\n", oneHost,
			map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "52428800\n"},
			Limit{50 * mb, 0},
		},
		{
			"a group that is not seen", "4:memory:/other\n", oneHost,
			map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "52428800\n"},
			Limit{},
		},
		{"both, memory in the first", "4:memory:/a\n0::/u\n", one + two, map[string]string{
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "104857600\n", "sys/fs/cgroup/u/cgroup.procs": "1\n",
		}, Limit{100 * mb, 0}},
		{
			"a name with a blank", "0::/a\n", `29 23 0:26 / /sys/fs/my\040cgroup rw - cgroup2 cgroup2 rw` + "\n",
			map[string]string{"sys/fs/my cgroup/a/memory.max": "104857600\n"},
			Limit{100 * mb, 0},
		},
		{
			"broken", "0::\nx\n4:memory\n", two + "1 2 3\n - \n",
			map[string]string{"sys/fs/cgroup/memory.max": "-5\n"},
			Limit{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{membership: c.groups, mounts: c.info}
			for name, text := range c.files {
				files[name] = text
			}
			if got := at(system(files)); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// On this machine it must not fail, whatever it says.
func TestHere(t *testing.T) {
	if l := Here(); l.Bytes < 0 || l.Kills < 0 {
		t.Errorf("%+v", l)
	}
}
