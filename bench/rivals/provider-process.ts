import { LeanProvider } from './provider.ts'
import { startProcess } from './process.ts'

/** Access to a provider in this process or in another one. */
export interface ProviderHandle {
  url: string
  /** Returns the number of messages that it received. */
  calls(): Promise<number>
  /** Sets the simulator that gets all calls except messages. */
  forwardTo(simulatorUrl: string): Promise<void>
}

export const inThisProcess = (provider: LeanProvider): ProviderHandle => ({
  url: provider.url,
  calls: () => Promise.resolve(provider.calls),
  forwardTo: (simulatorUrl) => {
    provider.simulatorUrl = simulatorUrl
    return Promise.resolve()
  },
})

/** Starts a provider in a process of its own, so that its work does not slow the load down. */
export async function startProvider(delayMs: number): Promise<ProviderHandle & AsyncDisposable> {
  const child = startProcess([process.execPath, import.meta.path, String(delayMs)])
  const [url = '', controlUrl = ''] = (await child.firstLine()).split(' ')
  return {
    url,
    calls: async () => Number(await (await fetch(controlUrl)).text()),
    forwardTo: async (simulatorUrl) => void (await fetch(controlUrl, { method: 'POST', body: simulatorUrl })),
    [Symbol.asyncDispose]: () => child.end(),
  }
}

if (import.meta.main) {
  const provider = new LeanProvider(Number(process.argv[2]))
  const control = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'POST') provider.simulatorUrl = await request.text()
      return new Response(String(provider.calls))
    },
  })
  process.stdout.write(`${provider.url} ${control.url.href}\n`)
}
