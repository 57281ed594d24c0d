import type { Socket } from 'bun'

/** A TCP proxy on 127.0.0.1 whose connections can be cut, like a network that goes away. */
export interface CuttableProxy extends Disposable {
  url: string
  /** Ends all connections and accepts none until `mend`. */
  cut(): void
  mend(): void
}

interface Side {
  other: Socket<Side> | null
  waiting: Uint8Array[]
}

/** Listens in front of `target`. */
export function startCuttableProxy(target: string): CuttableProxy {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket<Side>>()
  let isCut = false
  const passOn = {
    data({ data: { other, waiting } }: Socket<Side>, bytes: Uint8Array) {
      if (other === null) waiting.push(new Uint8Array(bytes))
      else other.write(bytes)
    },
    close(socket: Socket<Side>) {
      open.delete(socket)
      socket.data.other?.end()
    },
    error() {},
  }
  const listener = Bun.listen<Side>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      ...passOn,
      open(socket) {
        socket.data = { other: null, waiting: [] }
        if (isCut) return socket.terminate()
        open.add(socket)
        void Bun.connect<Side>({
          hostname,
          port: Number(port),
          data: { other: socket, waiting: [] },
          socket: passOn,
        }).then((server) => {
          open.add(server)
          for (const bytes of socket.data.waiting) server.write(bytes)
          socket.data.other = server
        })
      },
    },
  })
  return {
    url: `http://127.0.0.1:${listener.port}`,
    cut() {
      isCut = true
      for (const socket of open) socket.terminate()
    },
    mend: () => void (isCut = false),
    [Symbol.dispose]: () => listener.stop(true),
  }
}
