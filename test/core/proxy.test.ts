import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'
import { directIfLocal, exemptThisMachine } from '../../src/core/proxy.ts'

const PROXY = 'http://proxy.example.com:3128'
const REAL = { RC_CLIENT_ID: 'client', RC_CLIENT_SECRET: 'client-key' }

/** Whether calls to the provider go through a proxy, and how many may run at once. */
function callsWith(values: Record<string, string>): [throughProxy: boolean, callsAtOnce: number, warnings: string[]] {
  const result = readConfig({ values, readFile: () => '' })
  if (!result.ok) throw new Error(result.problems.join('\n'))
  const { provider, callsAtOnce } = result.config
  return [provider.throughProxy, callsAtOnce, result.warnings]
}

test('calls to RingCentral go through HTTPS_PROXY alone, and never if this machine is in its place', () => {
  for (const name of ['HTTPS_PROXY', 'https_proxy']) {
    expect(callsWith({ ...REAL, [name]: PROXY })).toEqual([true, 256, []])
    for (const RC_SERVER_URL of ['https://localhost:4010', 'http://127.0.0.2:4010', 'https://[::1]:4010'])
      expect(callsWith({ ...REAL, RC_SERVER_URL, [name]: PROXY })).toEqual([false, 1024, []])
    // Beside the built-in simulator.
    expect(callsWith({ [name]: PROXY })).toEqual([false, 1024, []])
  }
})

test('no other variable of Docker’s configuration counts or is taken for a misspelt one', () => {
  const names = ['HTTP_PROXY', 'FTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()])
  for (const name of names) expect(callsWith({ ...REAL, [name]: PROXY })).toEqual([false, 1024, []])
})

test('this machine is added to the NO_PROXY that Bun reads, whatever it names', () => {
  const own = 'localhost,127.0.0.0/8,::1'
  const added = (before: Record<string, string>): Record<string, string | undefined> => {
    const environment: Record<string, string | undefined> = { ...before }
    exemptThisMachine(environment)
    return environment
  }
  expect(added({})).toEqual({ NO_PROXY: own })
  expect(added({ NO_PROXY: 'a.example' })).toEqual({ NO_PROXY: `a.example,${own}` })
  expect(added({ no_proxy: 'a.example', NO_PROXY: 'b.example' })).toEqual({
    no_proxy: `a.example,${own}`,
    NO_PROXY: 'b.example',
  })
  expect(added({ no_proxy: '', NO_PROXY: 'b.example' })).toEqual({ no_proxy: '', NO_PROXY: `b.example,${own}` })
})

test('only an address of this machine is asked directly', () => {
  for (const url of [
    'http://localhost:1/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://[::1]:8/',
    'https://LOCALHOST',
  ])
    expect(directIfLocal(url)).toEqual({ proxy: false })
  for (const url of ['https://127.0.0.1.example.com', 'https://localhost.example.com', 'http://10.0.0.1', 'nonsense'])
    expect(directIfLocal(url)).toEqual({})
})
