/** `agent onboard create` */
import { defineCommand } from '../../cli/define-command.ts'
import { createRequest, createRequestFlags } from '../../cli/enterprise.ts'

export default defineCommand({
  summary: 'Ask somebody for their DID',
  description:
    'Prints the DID request, under a QR code when there is a terminal that it fits into. It is answered once, by whoever has it; with --wait, says by which DID.',
  examples: ['agent onboard create --from Acme --wait', 'agent onboard create --qr none | wl-copy'],
  flags: createRequestFlags,
  async run(context) {
    const { flags, call } = context
    return createRequest(context, 'onboard', () =>
      call('POST /onboard/did-requests', { body: { from: flags.from } }),
    )
  },
})
