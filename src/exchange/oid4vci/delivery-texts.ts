/**
 * The messages that bring an offer to its person. Each issuer may have texts of its own, which replace those
 * of the agent.
 */
import * as z from 'zod'
import { Locale } from '../../foundation/locale.ts'

/** The message with the link, and the message with the transaction code. */
type Kind = 'link' | 'code'

/** What the placeholders of a text stand for: `name` is the credential, `until` the end of the offer. */
export type Words = { name: string; issuer: string; until: string } & Partial<Record<'url' | 'code', string>>

const common = ['name', 'issuer', 'until']
/** The placeholder that only the message of a kind can have, and must have. */
const ownPlaceholder = { link: 'url', code: 'code' } as const

const toList = (names: readonly string[]) => names.map((name) => `{{${name}}}`).join(', ')
const placeholdersIn = (text: string) => [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name]) => name!)

/** A text that has no other placeholder than these. */
const Template = (maxLength: number, known: readonly string[]) =>
  z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .superRefine((text, context) => {
      const other = placeholdersIn(text).find((name) => !known.includes(name))
      if (other !== undefined)
        context.addIssue({
          code: 'custom',
          message: `cannot have {{${other}}}. Placeholders: ${toList(known)}`,
        })
    })

/** A text that has to have one of the placeholders. */
const Body = (kind: Kind, maxLength: number) => {
  const own = ownPlaceholder[kind]
  return Template(maxLength, [...common, own]).refine((text) => placeholdersIn(text).includes(own), {
    abort: true,
    error: `lacks {{${own}}}, without which the message has no ${kind}. Add it`,
  })
}

const controls = /[\p{Cc}\p{Zl}\p{Zp}]/u

const Texts = (kind: Kind) =>
  z.object({
    subject: Template(200, common)
      .refine((text) => !controls.test(text), 'has a line break or another control character')
      .describe('One line. It can be in view on a locked phone.'),
    text: Body(kind, 2_000),
    html: Body(kind, 10_000)
      .exactOptional()
      .describe('The same as HTML, in which values are escaped. Default: made from the text.'),
  })

const TextsOfLanguage = z
  .object({ link: Texts('link').exactOptional(), code: Texts('code').exactOptional() })
  .meta({ id: 'DeliveryTexts' })

const [maxLanguages, maxLength] = [20, 65_536]

export const DeliveryTexts = z
  .record(Locale, TextsOfLanguage)
  .superRefine((texts, context) => {
    const refuse = (message: string, path: string[] = []) =>
      context.addIssue({ code: 'custom', message, path })
    const languages = Object.entries(texts)
    if (languages.length > maxLanguages) refuse(`has more than ${maxLanguages} languages`)
    if (JSON.stringify(texts).length > maxLength) refuse(`is longer than ${maxLength} characters as JSON`)
    for (const [language, { link, code }] of languages)
      if (!(link && code) && !isUsual(language))
        refuse(
          `has no ${link ? 'code' : 'link'}. Give link and code: the agent has texts of its own only in ${Object.keys(usual).join(', ')}`,
          [language],
        )
  })
  .meta({
    examples: [
      {
        en: {
          link: {
            subject: '{{issuer}}: your card',
            text: 'Your {{name}} is ready until {{until}}: {{url}}',
          },
        },
      },
    ],
  })
export type DeliveryTexts = z.output<typeof DeliveryTexts>

type Stored = { delivery_texts: string | null }

export function deliveryTextsOf({ delivery_texts: texts }: Stored): DeliveryTexts | undefined {
  return texts === null ? undefined : DeliveryTexts.parse(JSON.parse(texts))
}

/** The languages that an issuer has messages in. */
export const languagesOf = (issuer: Stored): string[] => [
  ...new Set([...Object.keys(usual), ...Object.keys(deliveryTextsOf(issuer) ?? {})]),
]

/** A message of an issuer: its subject, its text, and the same text as HTML. */
export function toMessage(issuer: Stored, kind: Kind, language: string, words: Words) {
  // An issuer may have removed a language since the offer was made.
  const texts = isUsual(language) ? usual[language] : usual.en
  const { subject, text, html } = deliveryTextsOf(issuer)?.[language]?.[kind] ?? texts[kind]
  const values = mapWords(words, toLine)
  return {
    subject: fill(subject, values),
    text: fill(text, values),
    html: html === undefined ? toHtml(text, values) : fill(html, mapWords(values, escape)),
  }
}

function fill(template: string, words: Values): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => words[name] ?? placeholder)
}

type Values = Partial<Record<string, string>>

function mapWords(words: Values, change: (word: string) => string): Values {
  return Object.fromEntries(Object.entries(words).map(([name, word]) => [name, word && change(word)]))
}

/** A value is one line: a line break in a name would begin another header of an e-mail. */
const toLine = (text: string) => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

function toHtml(template: string, words: Values): string {
  const paragraphs = escape(template).split(/\r?\n\r?\n/)
  const lines = paragraphs.map((paragraph) => `<p>${paragraph.replaceAll(/\r?\n/g, '<br>')}</p>`)
  const { url, code, ...others } = mapWords(words, escape)
  return fill(lines.join('\n'), {
    ...others,
    url: url && `<a href="${url}">${url}</a>`,
    code: code && `<strong>${code}</strong>`,
  })
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

/**
 * The texts of the agent, in the languages of its pages. Each names who asks, and where the code is typed
 * (VCI §13.6.2).
 */
const usual: Record<'en' | 'de', Record<Kind, z.output<ReturnType<typeof Texts>>>> = {
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

const isUsual = (language: string): language is keyof typeof usual => Object.hasOwn(usual, language)
