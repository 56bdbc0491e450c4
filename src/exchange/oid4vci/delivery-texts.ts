/** The texts of messages that bring an offer to its person. */
import type { Locale } from '../../definitions/delivery.ts'

/** What the placeholders of a text stand for: `name` is the credential. */
export type Words = { name: string; issuer: string; until: string } & Partial<Record<'url' | 'code', string>>

type Template = { subject: string; text: string }

/** Each names who asks, and where the code is typed (VCI §13.6.2). */
const templates: Record<Locale, Record<'link' | 'code', Template>> = {
  en: {
    link: {
      subject: '{{issuer}}: your credential {{name}}',
      text: `{{issuer}} offers you the credential {{name}}.

Open this page, and get the credential with your wallet:
{{url}}

The offer ends on {{until}}. Do not pass the link on. If you did not expect this message, delete it.`,
    },
    code: {
      subject: '{{issuer}}: your code for {{name}}',
      text: `{{code}} is your code for the credential {{name}} of {{issuer}}.

Type it only when your wallet or its browser asks for it, after you opened the link of {{issuer}} yourself. {{issuer}} never asks for it by phone or in a message.`,
    },
  },
  de: {
    link: {
      subject: '{{issuer}}: Ihr Nachweis {{name}}',
      text: `{{issuer}} bietet Ihnen den Nachweis {{name}} an.

Öffnen Sie diese Seite, und holen Sie den Nachweis mit Ihrer Wallet ab:
{{url}}

Das Angebot endet am {{until}}. Geben Sie den Link nicht weiter. Wenn Sie diese Nachricht nicht erwartet haben, löschen Sie sie.`,
    },
    code: {
      subject: '{{issuer}}: Ihr Code für {{name}}',
      text: `{{code}} ist Ihr Code für den Nachweis {{name}} von {{issuer}}.

Geben Sie ihn nur ein, wenn Ihre Wallet oder deren Browser danach fragt, nachdem Sie selbst den Link von {{issuer}} geöffnet haben. {{issuer}} fragt nie am Telefon oder in einer Nachricht danach.`,
    },
  },
}

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
