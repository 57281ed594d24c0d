import { ICON_PATHS, type IconName } from './icon-paths.ts'

/** An icon beside a word. Screen readers ignore it: they read the word or the control's label. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path
      d={(ICON_PATHS as Readonly<Record<string, string>>)[name] ?? name}
      stroke-width={name === 'waiting' ? 4 : 2.1}
    />
  </svg>
)

/** The mark of sgw: a station on a wire. */
export const Mark = () => (
  <span class="mark">
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M1.5 8h13" stroke-width="1.8" />
      <circle cx="8" cy="8" r="2.6" fill="currentColor" stroke-width="1.8" />
    </svg>
  </span>
)
