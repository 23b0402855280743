// What a page of another origin may try on the page at the address "to": the ways, each with what it got; "nothing" is right.
async (to) => {
  const within = (start) => new Promise((done) => {
    start(done);
    setTimeout(() => done("nothing"), 1500);
  });
  const post = (type, body) => fetch(to + "/do", {method: "POST", credentials: "include", headers: {"Content-Type": type}, body});
  const element = (name, settings) => {
    const made = Object.assign(document.createElement(name), settings);
    document.body.append(made);
    return made;
  };
  const loads = (name) => within((done) => {
    element(name, {src: to, onload: () => done("loaded"), onerror: () => done("nothing")});
  });
  const text = (from) => {
    try {
      return from().body.innerText || "nothing";
    } catch {
      return "nothing";
    }
  };
  const ways = {
    fetch: async () => (await fetch(to, {credentials: "include"})).text(),
    opaque: async () => {
      await fetch(to, {credentials: "include", mode: "no-cors"});
      return "nothing"; // it cannot be read
    },
    post: async () => (await post("application/json", "{}")).text(),
    plain: async () => (await post("text/plain", '{"verb":"undo-restore"}')).text(),
    image: () => loads("img"),
    script: () => loads("script"),
    frame: () => within((done) => {
      const frame = element("iframe", {onload: () => done(text(() => frame.contentDocument)), src: to});
    }),
    socket: () => within((done) => {
      const socket = new WebSocket(to.replace("http", "ws"));
      socket.onopen = () => done("open");
      socket.onerror = () => done("nothing");
    }),
    form: () => within(() => {
      element("iframe", {name: "into"});
      const form = element("form", {method: "post", enctype: "text/plain", target: "into", action: to + "/do"});
      form.append(Object.assign(document.createElement("input"), {name: '{"verb":"undo-restore","x":"', value: '"}'}));
      form.submit();
    }),
    window: () => within((done) => {
      const other = window.open(to);
      setTimeout(() => {
        done(text(() => other.document));
        other?.close();
      }, 800);
    }),
  };
  const got = {};
  await Promise.all(Object.entries(ways).map(async ([name, way]) => {
    try {
      got[name] = await way() || "nothing";
    } catch {
      got[name] = "nothing";
    }
  }));
  return got;
}
