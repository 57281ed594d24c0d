import type { ComponentChild, ComponentType } from 'preact'
import { SgwError } from '../../../client/client.ts'
import { connection } from '../state/live.ts'
import { useLoading } from '../state/loading.ts'
import { LoadFailed } from '../parts/load-failed.tsx'

/** Imports a file whose default export is a component (`src/console/bundle.ts`). */
export type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

interface LoadedProps<Props> {
  /** The same function each time, because a new function would be a new component. */
  load: Load<Props>
  props: Props
  /** The content around the message that it could not be loaded; null for none. */
  around?: ((failure: ComponentChild) => ComponentChild) | null
}

/** A component that has been loaded is drawn immediately. */
const loaded = new WeakMap<object, unknown>()

/** A component whose file is loaded when it is first shown. */
export function Loaded<Props extends object>({ load, props, around = (failure) => failure }: LoadedProps<Props>) {
  const { value, error, again } = useLoading(() => fileOf(load), [load])
  const Component = value.value ?? (loaded.get(load) as ComponentType<Props> | undefined)
  if (Component !== undefined) return <Component {...props} />
  if (error.value === '') return null
  // A browser may remember that a file failed until the page is reloaded. Offline, a reload would lose the page.
  const retry = (): void => (connection.value.online ? location.reload() : again())
  return around && around(<LoadFailed what="This part of the page" error={error.value} again={retry} />)
}

async function fileOf<Props>(load: Load<Props>): Promise<ComponentType<Props>> {
  try {
    const { default: component } = await load()
    loaded.set(load, component)
    return component
  } catch {
    throw new SgwError('A file of the page did not load')
  }
}
