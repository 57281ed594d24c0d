import { effect } from '@preact/signals'
import { privacy, theme } from '../state/settings.ts'

/** Keeps the page in step with theme and privacy. */
export function followSettings(): void {
  const root = document.documentElement
  effect(() => {
    root.style.colorScheme = ''
    if (theme.value === 'system') delete root.dataset['theme']
    else root.dataset['theme'] = theme.value
  })
  effect(() => void root.classList.toggle('private', privacy.value === 'on'))
}
