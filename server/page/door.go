package page

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"rewind/server/page/view"
	"rewind/server/work"
)

const (
	cookieName = "rewind"
	maxBody    = 1 << 20 // bytes
	// policy lets a document load what this server has, and nothing else. Text becomes HTML only in the one place that
	// makes it of an answer of this server's (the policy "answer").
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types answer"
)

// door lets requests in: those that call this server by its name, come from its own documents or from nowhere, and have
// a cookie that a token was turned into. What is before the door is the same for everybody: the empty document, its
// script and style, and where a token is given in.
func (p *Page) door(inside http.Handler) http.Handler {
	var origin http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Embedder-Policy", "require-corp")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		p.mu.Lock()
		host, base := p.host, p.base
		p.mu.Unlock()
		path, below := strings.CutPrefix(r.URL.EscapedPath(), base)
		switch {
		case r.Host != host || r.URL.Host != "": // a name that leads here (DNS rebinding), or a proxy's request
			p.refuse(w, r, http.StatusMisdirectedRequest, "this is not the address of rewind's page")
			return
		case !below || !strings.HasPrefix(path, "/") || path != cleanPath(path):
			p.refuse(w, r, http.StatusNotFound, "there is no such page")
			return
		case !fromHere(r) || origin.Check(r) != nil:
			p.refuse(w, r, http.StatusForbidden, "another site's page may not ask this one")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		read := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case path == "/" && read:
			p.send(w, r, view.Entrance(base))
			return
		case strings.HasPrefix(path, "/assets/") && read:
			b, kind, ok := view.Asset(strings.TrimPrefix(path, "/assets/"))
			if !ok {
				p.refuse(w, r, http.StatusNotFound, "there is no such page")
				return
			}
			h.Set("Content-Type", kind)
			h.Set("Cache-Control", "private, max-age=31536000, immutable")
			packed(w, r, http.StatusOK, b)
			return
		case path == "/enter" && r.Method == http.MethodPost:
			p.enter(w, r)
			return
		}
		c, err := r.Cookie(cookieName)
		if err != nil {
			p.refuse(w, r, http.StatusUnauthorized, "nobody has let this browser in")
			return
		}
		who, renew, ok := p.keys.session(c.Value)
		if !ok {
			p.refuse(w, r, http.StatusUnauthorized, "this browser was let in too long ago, or by another daemon")
			return
		}
		if renew {
			p.mu.Lock()
			p.remember()
			p.mu.Unlock()
			giveCookie(w, base, c.Value)
		}
		if !strings.HasSuffix(path, "/live") { // which is no work, and ends with the page
			if !p.o.Begin() {
				p.refuse(w, r, http.StatusServiceUnavailable, "the daemon is about to end")
				return
			}
			defer p.o.Done()
		}
		defer p.guests.serving(r)()
		defer work.TightHeap()() // with /live that is as long as a page is open: what it shows is made anew each time, and is garbage then
		http.StripPrefix(base, inside).ServeHTTP(w, r.WithContext(withVisitor(r.Context(), who)))
	})
}

// fromHere reports whether a browser says that a request is this page's own or a person's. A link on another site is
// followed without the cookie (SameSite), and so comes to the door's answer only.
func fromHere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return false
}

// cleanPath is a path as a browser sends it of an address that is not meant to confuse: no "//", no dots, no encoded
// slash.
func cleanPath(path string) string {
	lower := strings.ToLower(path)
	if strings.Contains(path, "//") || strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") || strings.Contains(path, `\`) {
		return ""
	}
	for _, part := range strings.Split(strings.ReplaceAll(lower, "%2e", "."), "/") {
		if part == "." || part == ".." {
			return ""
		}
	}
	return path
}

// enter turns a token into a cookie.
func (p *Page) enter(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Token string `json:"token"`
		Zone  string `json:"zone"` // of the browser's clock, as IANA names it
	}
	// A form cannot send JSON, so no other site's form comes this far either.
	if r.Header.Get("Content-Type") != "application/json" || json.NewDecoder(r.Body).Decode(&req) != nil {
		p.refuse(w, r, http.StatusBadRequest, "that is no token")
		return
	}
	cookie, project, ok := p.keys.enter(req.Token, req.Zone)
	if !ok {
		p.refuse(w, r, http.StatusUnauthorized, "this link was used already, or is too old")
		return
	}
	p.mu.Lock()
	base := p.base
	p.remember()
	p.mu.Unlock()
	giveCookie(w, base, cookie)
	to := base + "/projects"
	if project != "" {
		to = base + "/p/" + project
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"to": to})
}

func giveCookie(w http.ResponseWriter, base, value string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: base + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(sessionLife.Seconds()),
	})
}

// refuse says no. Of what was asked the log has nothing but why it was refused: an address may have a token in it.
func (p *Page) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	p.refusals.Add("a request to the page", "status "+strconv.Itoa(status), why)
	p.send(w, r, view.Refused(p.path(), status, why))
}
