import { mkdir } from 'node:fs/promises'
import { VERSION } from '../src/version.ts'
import { bundledTypes } from './package-types.ts'

// bun scripts/build-package.ts   what the npm package needs besides the source; `npm pack` runs it
//   dist/client.js, dist/client.d.ts     the client for Node.js, browsers and workers, each one file

const FOLDER = 'dist'

await mkdir(FOLDER, { recursive: true })
await buildClient()

async function buildClient(): Promise<void> {
  const { success, logs, outputs } = await Bun.build({
    entrypoints: ['src/client/client.ts'],
    target: 'browser',
    format: 'esm',
    minify: true,
    banner: `// sgw/client ${VERSION}, MIT License`,
  })
  const [output] = outputs
  if (!success || output === undefined) throw new AggregateError(logs, 'The client cannot be built')
  await Bun.write(`${FOLDER}/client.js`, output)
  await Bun.write(`${FOLDER}/client.d.ts`, await bundledTypes('src/client/client.ts'))
}
