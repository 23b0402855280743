package page

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"rewind/api"
)

const (
	launchLife  = 2 * time.Minute    // of a token that nobody has used
	sessionLife = 7 * 24 * time.Hour // of a cookie that nobody uses
	renewAfter  = time.Hour          // of use, a session's last use is written down, and its cookie given anew
	mostKeys    = 16                 // of each kind; the oldest goes
)

// digest is what is kept of a secret: who reads the note cannot come in with it.
type digest [sha256.Size]byte

// session is a browser that came in.
type session struct {
	Key  []byte       `json:"key"` // the digest of its cookie
	Used time.Time    `json:"used"`
	Env  api.AgentEnv `json:"env"`  // of the person who let it in
	Zone string       `json:"zone"` // of its clock

	renewed time.Time // when its last use was written down
}

// keys are the secrets by which browsers come in. Safe for concurrent use.
type keys struct {
	now      func() time.Time
	mu       sync.Mutex
	launches map[digest]launch
	known    map[digest]session
}

// launch is a token that can become a session, once.
type launch struct {
	made    time.Time
	env     api.AgentEnv
	project string
}

// secret is 256 random bits as they stand in an address or a cookie.
func secret() (string, digest) {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	text := base64.RawURLEncoding.EncodeToString(b)
	return text, sha256.Sum256([]byte(text))
}

func (k *keys) launch(env api.AgentEnv, project string) string {
	text, key := secret()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.launches == nil {
		k.launches = map[digest]launch{}
	}
	k.launches[key] = launch{k.now(), env, project}
	dropOld(k.launches, func(l launch) time.Time { return l.made }, k.now().Add(-launchLife))
	return text
}

// enter makes a session of a token, and gives its cookie and the project that it is for.
func (k *keys) enter(token, zone string) (cookie, project string, ok bool) {
	key := digest(sha256.Sum256([]byte(token)))
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.launches[key]
	delete(k.launches, key)
	if !ok || k.now().Sub(l.made) > launchLife {
		return "", "", false
	}
	cookie, mark := secret()
	if k.known == nil {
		k.known = map[digest]session{}
	}
	k.known[mark] = session{mark[:], k.now(), l.env, zone, k.now()}
	dropOld(k.known, func(s session) time.Time { return s.Used }, k.now().Add(-sessionLife))
	return cookie, l.project, true
}

// session is who has a cookie. renew says that it is time to write down when it was used, and to give it anew: a
// browser that is used does not lose it.
func (k *keys) session(cookie string) (who visitor, renew, ok bool) {
	key := digest(sha256.Sum256([]byte(cookie)))
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.known[key]
	if !ok || k.now().Sub(s.Used) > sessionLife {
		delete(k.known, key)
		return who, false, false
	}
	s.Used = k.now()
	if renew = s.Used.Sub(s.renewed) > renewAfter; renew {
		s.renewed = s.Used
	}
	k.known[key] = s
	who = visitor{env: s.Env, zone: time.Local}
	if zone, err := time.LoadLocation(s.Zone); err == nil && s.Zone != "" {
		who.zone = zone
	}
	return who, renew, true
}

func (k *keys) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.known)
}

// sessions are all, the newest first.
func (k *keys) sessions() (list []session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.known {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b session) int { return b.Used.Compare(a.Used) })
	return list
}

// restore knows sessions of an earlier daemon again.
func (k *keys) restore(list []session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = map[digest]session{}
	}
	for _, s := range list {
		if len(s.Key) == len(digest{}) && !s.Used.After(k.now()) {
			k.known[digest(s.Key)] = s
		}
	}
	dropOld(k.known, func(s session) time.Time { return s.Used }, k.now().Add(-sessionLife))
}

// dropOld keeps what is newer than since, and of that the newest.
func dropOld[T any](m map[digest]T, at func(T) time.Time, since time.Time) {
	for key, v := range m {
		if at(v).Before(since) {
			delete(m, key)
		}
	}
	for len(m) > mostKeys {
		var oldest digest
		first := true
		for key, v := range m {
			if first || at(v).Before(at(m[oldest])) {
				oldest, first = key, false
			}
		}
		delete(m, oldest)
	}
}
