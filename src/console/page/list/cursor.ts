import { param, refine } from '../state/address.ts'

export const focusList = (): void => document.querySelector<HTMLElement>('.list')?.focus()
export const focusComposer = (): void => document.querySelector<HTMLElement>('.composer textarea')?.focus()
export const focusDetail = (): void => document.querySelector<HTMLElement>('.detail')?.focus()

/** Closes what is open, by taking its parameters away; the focus returns to its row, which is there again once the page is drawn. */
export function closeRow(key: string, params: Record<string, string>): void {
  refine(params)
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(key)}"]`)
    if (row === null) focusList()
    else row.focus()
  })
}

export const close = (): void => closeRow(param('id'), { id: '' })
