import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type manifest from '../package.json'

// bun scripts/package-manifest.ts put    package.json becomes that of the npm package; `prepack` does it
// bun scripts/package-manifest.ts back   and the checkout's own again; `postpack` does it

const FILE = 'package.json'
const KEPT = 'dist/package.json'

/** What npm installs beside the package: a native addon, and what is small there but large in a bundle. Everything else is in the bundle. */
export const INSTALLED = ['libsql', 'elysia', 'zod'] as const

/** Runs `pack` while package.json is that of the npm package. */
export async function withPackageManifest(pack: () => Promise<unknown>): Promise<void> {
  await put()
  try {
    await pack()
  } finally {
    await back()
  }
}

async function put(): Promise<void> {
  // A failed one left it.
  await back()
  await Bun.write(KEPT, Bun.file(FILE))
  const {
    dependencies,
    exports,
    devDependencies: _dev,
    trustedDependencies: _trusted,
    ...rest
  } = (await Bun.file(FILE).json()) as typeof manifest
  const { bun: _source, ...client } = exports['./client']
  const kit = { ...exports['./testing'], bun: './dist/gateway/testing.js' }
  const own = {
    ...rest,
    exports: { ...exports, './client': client, './testing': kit },
    dependencies: Object.fromEntries(INSTALLED.map((name) => [name, dependencies[name]])),
  }
  await Bun.write(FILE, `${JSON.stringify(own, null, 2)}\n`)
}

/** After a failed pack, somebody may have put it back already, and changed it since. */
async function back(): Promise<void> {
  if (!existsSync(KEPT)) return
  const isPacked = !('devDependencies' in (await Bun.file(FILE).json()))
  if (!isPacked) return rm(KEPT)
  await rm(FILE)
  await rename(KEPT, FILE)
}

if (import.meta.main) await (process.argv[2] === 'put' ? put() : back())
