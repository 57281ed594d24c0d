import { Loaded } from '../frame/loaded.tsx'
import { Carried } from './carried.tsx'
import type { PicturesProps } from './pictures-view.tsx'

const loadPictures = () => import('./pictures-view.tsx')

/** What a message carries, from a separate file. If that file cannot be loaded, a note says so. */
export const Carrying = (props: PicturesProps) =>
  props.message.attachments ? (
    <Loaded load={loadPictures} props={props} around={() => <Carried count={props.message.attachments} />} />
  ) : null
