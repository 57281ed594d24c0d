import { expect, test } from 'bun:test'
import { Connections } from '../../bench/support/posts.ts'
import { failureOf } from '../support/process.ts'

const ANSWER = 'HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}'
const REQUEST = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n'

/** A server that answers each request, or none, and then closes the connection. */
function closingServer(answers: boolean): { port: number; opened: () => number } & Disposable {
  let opened = 0
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void opened++,
      data(socket) {
        if (answers) socket.write(ANSWER)
        socket.end()
      },
    },
  })
  return { port: server.port, opened: () => opened, [Symbol.dispose]: () => server.stop(true) }
}

test('a connection that the server has closed between two requests is opened anew', async () => {
  using server = closingServer(true)
  using connections = await Connections.open(server.port, 1)
  for (let sent = 1; sent <= 3; sent++) {
    expect(await connections.postAll([REQUEST])).toMatchObject({ refused: 0 })
    // The end of the connection arrives after the answer.
    while (connections.open > 0) await new Promise(setImmediate)
    expect(server.opened()).toBe(sent)
  }
})

test('a connection that ends with a request under way is an error', async () => {
  using server = closingServer(false)
  using connections = await Connections.open(server.port, 1)
  const error = await failureOf(connections.postAll([REQUEST]))
  expect(String(error)).toContain('The server closed the connection, with a request under way')
})
