import { $ } from 'bun'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageFile from '../../package.json'
import { pathWith } from '../support/path-with.ts'
import { type Finished, PROJECT, finished } from '../support/program.ts'
import { FROM, TO } from '../support/world.ts'

/** Sends an SMS and prints what `events()` yields of it, and what a redirect leads to. It is the same for all that can import the client. */
export const PROGRAM = `
async function main(Sgw, baseUrl, apiKey, options = {}) {
  const sgw = new Sgw({ baseUrl, apiKey, ...options })
  const statuses = []
  const stream = sgw.events({ onState: ({ online }) => online && send() })
  let message
  const send = () => (message ??= sgw.sms.sendAndWait({ to: '${TO}', from: '${FROM}', body: 'Hello' }))
  for await (const event of stream) {
    if (event.type === 'sms_status') statuses.push(event.status)
    if (event.status === 'sent') break
  }
  return JSON.stringify({ statuses, status: (await message).status })
}
function redirected(Sgw, baseUrl) {
  return new Sgw({ baseUrl, apiKey: 'sgw_key' }).me().catch(({ status, message }) => status + ' ' + message)
}`
export const SENT = JSON.stringify({ statuses: ['queued', 'sending', 'sent'], status: 'sent' })

/**
 * The packages as npm packs them, and unpacked in `folder/sgw` and `folder/sgw-client`. `npm pack` writes package.json for a moment, so
 * it has a checkout of its own.
 */
export async function packPackages(folder: string) {
  const checkout = join(folder, 'checkout')
  mkdirSync(checkout)
  await $`git ls-files -z | xargs -0 cp --parents --target-directory ${checkout}`.cwd(PROJECT)
  const tarball = join(folder, `sgw-${packageFile.version}.tgz`)
  const clientTarball = join(folder, `sgw-client-${packageFile.version}.tgz`)
  const pack = (what: string): Promise<Finished> =>
    finished(['npm', 'pack', '--silent', '--pack-destination', folder, what], nodeAlone(folder), checkout)
  // The first one makes what the second one packs.
  const packing = [await pack('.'), await pack('./dist/sgw-client')]
  for (const [name, file] of Object.entries({ sgw: tarball, 'sgw-client': clientTarball })) {
    mkdirSync(join(folder, name))
    await $`tar xzf ${file} --strip-components 1 --directory ${join(folder, name)}`.nothrow()
  }
  return { checkout, tarball, clientTarball, packing }
}

/** The environment of a machine that has Node.js with npm, and besides it only these programs. */
export const nodeAlone = (folder: string, ...others: string[]): Record<string, string> => ({
  PATH: pathWith(folder, 'node', 'npm', 'npx', 'sh', 'dirname', 'readlink', ...others),
  HOME: process.env['HOME'] ?? '',
})

/** An empty project in which these packages are unpacked and no others. */
export function projectWith(folder: string, packages: Record<string, string>): string {
  const project = join(folder, `project-${crypto.randomUUID()}`)
  mkdirSync(join(project, 'node_modules'), { recursive: true })
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  for (const [name, content] of Object.entries(packages))
    Bun.spawnSync(['cp', '-r', content, join(project, 'node_modules', name)])
  return project
}

/** A Node.js of this major version: the machine's, else that of the package `node`. */
export async function nodeCommand(major: number): Promise<string> {
  const version = await $`node --version`.nothrow().quiet().text()
  if (version.startsWith(`v${major}.`)) return 'node'
  const installed = await $`npx -y node@${major} --print process.execPath`.cwd(PROJECT).quiet().text()
  return installed.trim()
}
