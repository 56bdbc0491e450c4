/** The messages by which the tenant brings an offer to its person. Pure data: the command line imports it. */
import type { EventName } from './event-subjects.ts'

/** Events that ask the tenant to send a message. Their secrets are in the deliveries to webhooks alone. */
export const deliveryEvents = [
  'OfferDeliveryRequested',
  'TransactionCodeDeliveryRequested',
] as const satisfies readonly EventName[]
export type DeliveryEvent = (typeof deliveryEvents)[number]

export function isDeliveryEvent(type: string): type is DeliveryEvent {
  return (deliveryEvents as readonly string[]).includes(type)
}

/** The languages of the messages (BCP 47), the default first. */
export const locales = ['en', 'de'] as const
export type Locale = (typeof locales)[number]

type Template = { subject: string; text: string }

/**
 * The texts. `{{name}}` is the credential, `{{until}}` the end of the offer. Each names who asks, and where
 * the code is typed (VCI §13.6.2).
 */
export const templates: Record<Locale, Record<'link' | 'code', Template>> = {
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
