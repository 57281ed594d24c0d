import { expect, test } from 'bun:test'
import * as to from './destinations.ts'

interface Report {
  outcomes: string[]
  peakMegabytes: number
  afterMegabytes: number
}

/** Posts from a separate process, with its own environment and memory. */
async function postInChild(urls: string[], env: Record<string, string> = {}): Promise<Report> {
  const script = new URL('fixtures/post-in-child.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, ...urls], {
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(child.stdout).text()) as Report
}

const url = (destination: to.Destination, scheme = 'http'): string => `${scheme}://127.0.0.1:${destination.port}/`

test('webhooks never use a proxy of the environment, and certificates are always verified', async () => {
  await using destination = await to.startDestination(to.says(to.response('200 OK')))
  await using secure = await to.startTlsDestination(to.says(to.response('200 OK')))
  await using proxy = await to.startDestination(to.says(to.response('200 OK')))
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const proxies = Object.fromEntries(names.map((name) => [name, url(proxy)]))
  const env = { ...proxies, NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0', NO_PROXY: '', no_proxy: '' }
  const report = await postInChild([url(destination), url(destination), url(secure, 'https')], env)
  expect(report.outcomes).toEqual(['success', 'DEPTH_ZERO_SELF_SIGNED_CERT'])
  expect(proxy.connections()).toBe(0)
})

test('compression bombs, endless bodies and endless headers do not increase memory', async () => {
  const piece = Buffer.alloc(256 * 1024, 'x')
  await using warm = await to.startDestination(to.says(to.response('200 OK')))
  await using bomb = await to.startDestination(to.gzipBomb())
  await using endless = await to.startDestination(to.floods('HTTP/1.1 200 OK\r\n\r\n', piece))
  await using failing = await to.startDestination(to.floods('HTTP/1.1 500 No\r\n\r\n', piece))
  await using header = await to.startDestination(to.floods('HTTP/1.1 200 OK\r\nX: ', piece))
  await using interim = await to.startDestination(to.floods('HTTP/1.1 103 Early Hints\r\nX: ', piece))
  const report = await postInChild(
    [warm, bomb, endless, failing, header, interim].map((destination) => url(destination)),
  )
  expect(report.outcomes).toEqual(['success', 'success', 'http_error', 'success', 'HPE_HEADER_OVERFLOW'])
  // There are ten parallel POSTs of each kind. A single unpacked bomb would take 50 MB.
  expect(report.peakMegabytes).toBeLessThan(40)
})
