import type { BunPlugin } from 'bun'

/**
 * The client as the frame's file has it: only with the endpoints that the page names. The page has a session, so it needs no token for one
 * socket, and every browser has a WebSocket.
 */
export async function clientOfPage(folder: string): Promise<BunPlugin> {
  const paths = [...new Bun.Glob('**/*.ts*').scanSync({ cwd: folder, absolute: true })]
  const words = new Set((await Promise.all(paths.map((path) => Bun.file(path).text()))).join(' ').match(/\w+/g))
  return {
    name: 'client of the page',
    setup(builder) {
      builder.onLoad({ filter: /[\\/]client[\\/](apps|sgw|sms|opt-outs)\.ts$/ }, async ({ path }) => {
        const text = await Bun.file(path).text()
        const isUsed = (name: string): boolean =>
          name === 'constructor' || words.has(name) || text.includes(`this.${name}(`)
        const used = text.replaceAll(METHOD, (all, name: string) => (isUsed(name) ? all : '\n'))
        return { contents: used.replace(/'No WebSocket here.*'/, "''"), loader: 'ts' }
      })
      builder.onLoad({ filter: /[\\/]client[\\/]event-stream\.ts$/ }, async ({ path }) => {
        const text = await Bun.file(path).text()
        return { contents: text.replaceAll('this.#requester.options.token', 'undefined'), loader: 'ts' }
      })
    },
  }
}

/** A method of the client's classes, with its comment. */
const METHOD = /\n(?: {2}\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)? {2}(?:async )?(\w+)(?:<\w+>)?\([^]*?\n {2}\}\n/g
