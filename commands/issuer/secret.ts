import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Make a new secret, which signs requests to claims sources',
  description:
    'A claims source verifies the requests with it, as a webhook its events. The secret is printed only now. The previous secret signs too for WEBHOOK_SECRET_OVERLAP (default: one day), so that you can update the source.',
  examples: ['agent issuer secret <id>'],
  args: idOf('issuer'),
  async run({ args, call, print, suggest }) {
    const renewed = await call('POST /oid4vci/issuers/{issuerId}/secret', { path: { issuerId: args.id } })
    print(renewed.secret, [
      ['issuer', args.id],
      ['secret', renewed.secret],
      ['the one before', renewed.previousUntil && `signs until ${renewed.previousUntil}`],
    ])
    suggest(`agent issuer configuration add ${args.id} --id Person --schema <guid> --claims-source https://…`)
    return renewed
  },
})
