import type { Block } from './block.ts'
import type { Stretch } from './list.ts'

/** A range cut into the blocks that touch it and the stretches between them, newest first. */
export function stretchesOf(blocks: readonly Block[], range: Stretch): (Block | Stretch)[] {
  const stretches: (Block | Stretch)[] = []
  let until = range.until
  for (const block of blocks) {
    if (block.after >= until) continue
    if (block.until <= range.after) break
    if (block.until < until) stretches.push({ after: block.until, until })
    stretches.push(block)
    until = block.after
  }
  if (until > range.after) stretches.push({ after: range.after, until })
  return stretches
}
