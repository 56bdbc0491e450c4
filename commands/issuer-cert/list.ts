import { certificateState } from '../../cli/format/issuer-certificate.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the issuing keys with X.509 certificates',
  examples: ['agent issuer-cert list'],
  read: ({ call, paging }) => call('GET /issuer-certificates', { query: paging }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'state', of: certificateState },
    { head: 'profile', of: ({ profile }) => profile, optional: true },
    { head: 'subject', of: ({ subject }) => subject, cut: 'end' },
    {
      head: 'authority',
      of: ({ isDevelopment, x5c }) => (isDevelopment ? 'development' : x5c ? 'external' : undefined),
    },
    { head: 'ends', of: ({ notAfter }) => notAfter?.slice(0, 10), optional: true },
  ],
  empty: 'There are no issuer certificates. `agent issuer-cert init` makes one for development.',
})
