import type { BunPlugin } from 'bun'

/**
 * The client as the frame's file has it: only with the endpoints that the page calls. The page has a session, so it needs no token for one
 * socket, every browser has a WebSocket, it uploads files itself, and it has its own words for whatever is no answer of the gateway
 * (`state/failure.ts`).
 */
export async function clientOfPage(folder: string): Promise<BunPlugin> {
  const paths = [...new Bun.Glob('**/*.ts*').scanSync({ cwd: folder, absolute: true })]
  const calls = (await Promise.all(paths.map((path) => Bun.file(path).text()))).join(' ').match(/\.\w+\(/g)
  const called = new Set(calls?.map((call) => call.slice(1, -1)))
  return {
    name: 'client of the page',
    setup(builder) {
      const change = (names: string, changed: (text: string) => string): void =>
        void builder.onLoad({ filter: new RegExp(`[\\\\/]client[\\\\/](${names})\\.ts$`) }, async ({ path }) => ({
          contents: changed(await Bun.file(path).text()),
          loader: 'ts',
        }))
      change('apps|connection|sgw|sms|opt-outs', (text) => {
        const isUsed = (name: string): boolean =>
          name === 'constructor' || called.has(name) || text.includes(`this.${name}(`)
        const used = text.replaceAll(METHOD, (all, name: string) => (isUsed(name) ? all : '\n'))
        return used.replace(/'No WebSocket here.*'/, "''").replace(/ {4}for \(const file of media[^]*?\n {4}}\n/, '')
      })
      change('event-stream', (text) => text.replaceAll('this.#requester.options.token', 'undefined'))
      change('event-socket', (text) => text.replaceAll(/`(The WebSocket|was) .*?`|'was closed'/g, "''"))
      change('client', (text) => text.replace(/export { verifyWebhook }.*/, ''))
      change('requester', (text) =>
        text
          .replace(/(?<=\nfunction problemOf.*\n)[^]*?(?= {2}if \(typeof)/, '')
          .replaceAll(/'The (answer|apiKey) .*'/g, "''")
          .replace(/, fetch: given|given \?\? /g, '')
          .replace(/const isLate[^]*?throw new SgwError\(`.*?`/, "throw new SgwError(''"),
      )
    },
  }
}

/** A method of the client's classes, with its comment. */
const METHOD = /\n(?: {2}\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)? {2}(?:async )?(\w+)(?:<\w+>)?\([^]*?\n {2}\}\n/g
