import { $ } from 'bun'
import { join } from 'node:path'

export interface ImageOptions {
  version: string
  commit: string
  /** Where the archive goes. */
  folder: string
}

/** What can build the image here, and its words for saving it as an archive. */
interface Builder {
  name: string
  save: (tag: string, file: string) => string[]
}

const BUILDERS: readonly Builder[] = [
  // Since version 25 Docker saves an OCI layout.
  { name: 'docker', save: (tag, file) => ['save', '--output', file, tag] },
  { name: 'podman', save: (tag, file) => ['save', '--format', 'oci-archive', '--output', file, tag] },
  { name: 'buildah', save: (tag, file) => ['push', tag, `oci-archive:${file}:${tag}`] },
]

/** Makes an OCI archive of the image for this machine's platform, if the machine has a builder. `fact` reports the result. */
export async function packImage({ version, commit, folder }: ImageOptions) {
  const file = `sgw-${version}-image-${process.platform}-${process.arch}.tar`
  const tag = `sgw:${version}`
  const builder = await findBuilder()
  if (builder === null) return { file, fact: 'not made: neither Docker, Podman nor Buildah runs here', isMade: false }
  const { name, save } = builder
  const options = ['--build-arg', `COMMIT=${commit}`, '--build-arg', `VERSION=${version}`, '--tag', tag]
  const built = await $`${name} build ${options} .`.nothrow().quiet()
  const result = built.exitCode === 0 ? await $`${name} ${save(tag, join(folder, file))}`.nothrow().quiet() : built
  if (result.exitCode === 0) return { file, fact: `made by ${name}`, isMade: true }
  return { file, fact: `not made: ${name} failed: ${lastLineOf(result.stderr.toString())}`, isMade: false }
}

/** A client without its daemon is not a builder. */
async function findBuilder(): Promise<Builder | null> {
  for (const builder of BUILDERS)
    if (Bun.which(builder.name) !== null && (await $`${builder.name} info`.nothrow().quiet()).exitCode === 0)
      return builder
  return null
}

const lastLineOf = (text: string): string => text.trim().split('\n').at(-1) ?? ''
