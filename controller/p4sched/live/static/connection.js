// The WebSocket to the server. It is opened again when the server comes back.
const RETRY_MS = 1000;

/** Hands over lists of messages; `state` tells how the connection is. Gives a function that sends a command. */
export function connect(take, state) {
  let socket = null;
  const open = () => {
    state("connecting");
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/messages`);
    socket.onopen = () => state("live");
    socket.onmessage = (event) => {
      const found = JSON.parse(event.data);
      take(Array.isArray(found) ? found : [found]);
    };
    socket.onclose = () => {
      state("no connection, looking again");
      setTimeout(open, RETRY_MS);
    };
  };
  open();
  return (command) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(command));
  };
}
