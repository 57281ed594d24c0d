import type { NumberForm } from '../core/provider-settings.ts'

/** Writes an E.164 number as records do, by turns in each of these forms. `turn` is the same for all numbers of a message. */
export function writtenNumber(number: string, turn: number, forms: readonly NumberForm[]): string {
  const form = forms[turn % forms.length]
  if (form === 'digits') return number.replace(/^\+/, '')
  return form === 'american' ? number.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '($1)$2-$3') : number
}
