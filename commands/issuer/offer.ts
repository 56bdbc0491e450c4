import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { draw } from '../../cli/invitation.ts'
import { chooseQr, qrFlags } from '../../cli/qr/flags.ts'

export default defineCommand({
  summary: 'Print an offer that never ends, for a poster or a web page',
  description:
    'The offer has no secret: each person who scans it logs in, or is anybody, by the --begin of the configuration. It can be printed, and used any number of times.',
  examples: [
    'agent issuer offer <issuer id> --configuration Member --qr png',
    'agent issuer offer <issuer id> --all',
  ],
  args: idOf('issuer'),
  flags: {
    configuration: Flags.string({
      exactlyOne: ['configuration', 'all'],
      description: 'id of the configuration, whose --begin is not offer',
    }),
    all: Flags.boolean({ description: 'one offer with all such credentials' }),
    ...qrFlags(),
  },
  async run(context) {
    const { args, flags, call, log, say, isQuiet } = context
    const qr = chooseQr(flags)
    const configurationId = flags.configuration ?? 'all'
    const path = { issuerId: args.id, configurationId }
    const offer = await call('GET /oid4vci/issuers/{issuerId}/offers/{configurationId}', { path })
    const page = `${offer.credential_issuer}/offers/${encodeURIComponent(configurationId)}`
    const parameters = new URLSearchParams(
      qr.isLong ? { credential_offer: JSON.stringify(offer) } : { credential_offer_uri: page },
    )
    const text = `openid-credential-offer://?${parameters.toString().replaceAll('+', '%20')}`
    log(text)
    if (!isQuiet)
      say(
        `\ncredentials  ${offer.credential_configuration_ids.join(' ')}\npage         ${page}\nexpires      never`,
      )
    const note = page.startsWith('http:') ? 'Most wallets require https.' : undefined
    await draw(context, `${args.id}-${configurationId}`, { text, code: text, page, note }, qr)
    return { ...offer, credentialOffer: text, page }
  },
})
