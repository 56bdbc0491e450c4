/** The messages that bring an offer to its person. */
import { templates, type Locale } from '../../definitions/delivery.ts'

/** What the placeholders of a text stand for: `name` is the credential. */
export type Words = { name: string; issuer: string; until: string } & Partial<Record<'url' | 'code', string>>

/** A message: its subject, its text, and the same text as HTML. */
export function toMessage(kind: 'link' | 'code', locale: Locale, words: Words) {
  const { subject, text } = templates[locale][kind]
  return {
    subject: fill(subject, words).replaceAll(/\s+/g, ' '),
    text: fill(text, words),
    html: toHtml(text, words),
  }
}

function fill(template: string, words: Partial<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => words[name] ?? placeholder)
}

function toHtml(template: string, { url, code, ...others }: Words): string {
  const escaped = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, escape(value)]))
  const paragraphs = escape(template).split('\n\n')
  const lines = paragraphs.map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br>')}</p>`)
  return fill(lines.join('\n'), {
    ...escaped,
    url: url && `<a href="${escape(url)}">${escape(url)}</a>`,
    code: code && `<strong>${escape(code)}</strong>`,
  })
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!)
}
