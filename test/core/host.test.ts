import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'
import { createWorld } from '../support/world.ts'

const hostOf = (host: string): string => {
  const result = readConfig({ values: { HOST: host }, readFile: () => '' }, false)
  return result.ok ? result.config.host : result.problems.join('\n')
}

test('each way to write an address or a name of this machine is the same listener', async () => {
  for (const [written, host] of [
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['[::]', '::'],
    ['::0', '::'],
    ['::', '::'],
    [' 127.0.0.1 ', '127.0.0.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['LOCALHOST', 'localhost'],
    ['localhost.', 'localhost.'],
    ['sgw-1.internal', 'sgw-1.internal'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
  ] as const)
    expect([written, hostOf(written)]).toEqual([written, host])
})

test('what is neither is a problem of the configuration that names HOST and what to write', async () => {
  const values = ['*', '127.1', '0', '0x7f.1', '2130706433', '1.2.3.4.5', '256.0.0.1', '127.0.0.1:3000', '[::1]:3000']
  for (const host of [...values, 'http://localhost', '127.0.0.1,::1', 'a b', '[]', '[::1', '-a', 'a..b', 'ü'])
    expect([host, hostOf(host)]).toEqual([
      host,
      expect.stringMatching(/^HOST is ".*": give an address or a name of this machine without a port/),
    ])
})

test('the gateway listens where HOST says, for a name and for an IPv6 address in brackets', async () => {
  for (const [host, also] of [
    ['[::1]', '[::1]'],
    ['::', '127.0.0.1'],
    ['::', '[::1]'],
    ['0.0.0.0', '127.0.0.1'],
    ['localhost', 'localhost'],
  ] as const) {
    await using world = await createWorld({ env: { HOST: host }, connect: false, work: false })
    const { port } = new URL(world.url)
    expect([host, also, (await fetch(`http://${also}:${port}/health`)).status]).toEqual([host, also, 200])
  }
})
