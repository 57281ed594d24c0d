import { LeanProvider } from './provider.ts'
import { startProcess } from './process.ts'

/** The provider as contestants and benches see it, in this process or in another. */
export interface ProviderHandle {
  url: string
  /** How many messages it got. */
  calls(): Promise<number>
  /** Where everything but messages is forwarded to. */
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

/** A provider in a process of its own, so that its work is not the load's. */
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
