import { LeanProvider } from '../rivals/provider.ts'
import { inThisProcess } from '../rivals/provider-process.ts'
import { sgw } from '../rivals/sgw.ts'
import { Connections } from '../support/posts.ts'
import { BURST, type Path } from './path.ts'

/** From the request to the provider's answer. Load and provider are this process, so that few programs share the processors. */
export const sendPath: Path = {
  name: 'send',
  async open(source) {
    await using stack = new AsyncDisposableStack()
    let missing = 0
    let called = Promise.withResolvers<void>()
    const provider = stack.use(new LeanProvider(0, () => void (--missing === 0 && called.resolve())))
    const running = stack.use(await sgw(source).start({ provider: inThisProcess(provider), env: {} }))
    const opened = stack.move()
    return {
      pid: running.pids[0] ?? 0,
      async connect() {
        const connections = await Connections.open(running.port, BURST)
        return {
          async burst() {
            missing = BURST
            called = Promise.withResolvers()
            const { refused } = await connections.postAll(Array.from({ length: BURST }, running.request))
            if (refused > 0) throw new Error(`${refused} messages were refused`)
            await called.promise
          },
          [Symbol.dispose]: () => connections[Symbol.dispose](),
        }
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    }
  },
}
