import type { Extension } from './directory.ts'

/** Replaces the platform's login page: one button per extension, and one to refuse. */
export function loginPage(extensions: Extension[], query: URLSearchParams): string {
  const inputs = [...query].map(
    ([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`,
  )
  const buttons = extensions.map(buttonFor)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Simulated login</title>
<style>body{font:16px system-ui;margin:3rem auto;max-width:24rem}button{display:block;font:inherit;margin:.5rem 0;padding:.6rem;width:100%}</style>
<h1>Simulated login</h1>
<form method="get">
${inputs.join('\n')}
${buttons.join('\n')}
<button name="approve" value="deny">Deny access</button>
</form>
</html>`
}

function buttonFor(extension: Extension): string {
  const numbers = extension.numbers.map((number) => number.phoneNumber).join(', ')
  return `<button name="approve" value="${extension.id}">${escape(`${extension.name} (${extension.extensionNumber}) ${numbers}`)}</button>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
