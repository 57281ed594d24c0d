import { mkdir } from 'node:fs/promises'
import { VERSION } from '../src/core/version.ts'
import { bundledTypes } from './package-types.ts'

// bun scripts/build-package.ts   what the npm package needs besides the source; `npm pack` runs it
//   dist/client.js, dist/client.d.ts     the client for Node.js, browsers and workers, each one file
//   dist/testing.js, dist/testing.d.ts   the types of the test kit, which runs from source under Bun alone

const FOLDER = 'dist'
const NOT_BUN = `throw new Error('sgw/testing starts the gateway in this process, which only Bun can: run these tests with bun test')\n`

await mkdir(FOLDER, { recursive: true })
await writeTesting(await writeClient())

/** Returns the names that the client exports. */
async function writeClient(): Promise<Set<string>> {
  const entry = 'src/client/client.ts'
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    format: 'esm',
    minify: true,
    banner: `// sgw/client ${VERSION}, MIT License`,
  })
  const [output] = outputs
  if (!success || output === undefined) throw new AggregateError(logs, 'The client cannot be built')
  await Bun.write(`${FOLDER}/client.js`, output)
  // No package's types: a page has none.
  const options = ['--lib', 'esnext,dom,dom.iterable,dom.asynciterable', '--types', '']
  const { text, names } = await bundledTypes({ entry, options })
  await Bun.write(`${FOLDER}/client.d.ts`, text)
  return names
}

async function writeTesting(clientNames: Set<string>): Promise<void> {
  await Bun.write(`${FOLDER}/testing.js`, NOT_BUN)
  const elsewhere = { file: './client.js', names: clientNames }
  // The gateway that the kit starts was checked by `bun run types`.
  const options = ['--noCheck', '--types', 'bun-types']
  const { text } = await bundledTypes({ entry: 'src/testing/index.ts', options, elsewhere })
  await Bun.write(`${FOLDER}/testing.d.ts`, text)
}
