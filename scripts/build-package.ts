import { mkdir, rm } from 'node:fs/promises'
import { COMMIT } from '../src/core/build.ts'
import { RELEASE, VERSION } from '../src/core/version.ts'
import { buildPackageBundle } from './executable.ts'
import { withLineBreaks } from './line-breaks.ts'
import { LICENCES_FILE, thirdPartyLicences } from './licences.ts'
import { INSTALLED } from './package-manifest.ts'
import { bundledTypes } from './package-types.ts'

// bun scripts/build-package.ts   what is in the npm packages; `npm pack` runs it
//   dist/gateway/                        the gateway and the test kit, bundled, for Bun
//   dist/client.js, dist/client.d.ts     the client for Node.js, browsers and workers, each one file
//   dist/testing.js, dist/testing.d.ts   what Node.js gets in place of the test kit, and the kit's types
//   dist/THIRD-PARTY-LICENSES.txt       the licenses of what it depends on
//   dist/sgw-client/                     the client as a package of its own: npm pack ./dist/sgw-client

const FOLDER = 'dist'
const NOT_BUN = 'sgw/testing starts the gateway in this process, which only Bun can: run these tests with bun test'

await mkdir(FOLDER, { recursive: true })
await writeTesting(await writeClient())
await writeClientPackage(`${FOLDER}/sgw-client`)
await rm(`${FOLDER}/gateway`, { recursive: true, force: true })
await buildPackageBundle(`${FOLDER}/gateway`, COMMIT ?? '', INSTALLED)
await Bun.write(`${FOLDER}/${LICENCES_FILE}`, await thirdPartyLicences())

/** Returns the names that the client exports. */
async function writeClient(): Promise<Set<string>> {
  const entry = 'src/client/client.ts'
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    format: 'esm',
    minify: true,
    banner: `// The client of sgw ${VERSION}, MIT License`,
  })
  const [output] = outputs
  if (!success || output === undefined) throw new AggregateError(logs, 'The client cannot be built')
  await Bun.write(`${FOLDER}/client.js`, withLineBreaks(await output.text()))
  // No package's types: a page has none.
  const options = ['--lib', 'esnext,dom,dom.iterable,dom.asynciterable', '--types', '']
  const { text, names } = await bundledTypes({ entry, options })
  await Bun.write(`${FOLDER}/client.d.ts`, text)
  return names
}

async function writeTesting(clientNames: Set<string>): Promise<void> {
  const source = await Bun.file('src/testing/index.ts').text()
  // Node links a module before it runs it: without the names an import of one would fail with a sentence of the linker.
  const names = new Bun.Transpiler({ loader: 'ts' }).scan(source).exports
  const declared = names.map((name) => `export let ${name}\n`).join('')
  await Bun.write(`${FOLDER}/testing.js`, `${declared}throw new Error('${NOT_BUN}')\n`)
  const elsewhere = { file: './client.js', names: clientNames }
  // The gateway that the kit starts was checked by `bun run types`.
  const options = ['--noCheck', '--types', 'bun-types']
  const { text } = await bundledTypes({ entry: 'src/testing/index.ts', options, elsewhere })
  await Bun.write(`${FOLDER}/testing.d.ts`, text)
}

async function writeClientPackage(folder: string): Promise<void> {
  const manifest = {
    name: 'sgw-client',
    version: RELEASE,
    description: 'The typed client of sgw, a self-hosted SMS gateway. No dependencies.',
    license: 'MIT',
    keywords: ['sms', 'gateway', 'ringcentral', 'client', 'webhook'],
    type: 'module',
    sideEffects: false,
    exports: { '.': { types: './client.d.ts', default: './client.js' }, './package.json': './package.json' },
    // For tools that do not read exports.
    main: './client.js',
    types: './client.d.ts',
    files: ['client.js', 'client.d.ts'],
  }
  await Bun.write(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`)
  const copies = { 'client.js': 'dist/client.js', 'client.d.ts': 'dist/client.d.ts', LICENSE: 'LICENSE' }
  for (const [name, path] of Object.entries({ ...copies, 'README.md': 'scripts/sgw-client.md' }))
    await Bun.write(`${folder}/${name}`, Bun.file(path))
}
