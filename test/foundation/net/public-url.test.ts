/** Which URLs are public. */
import { expect, test } from 'vitest'
import { isPublicUrl } from '../../../src/foundation/net/public-url.ts'
import { words } from '../../support/words.ts'

test.each(
  words(`
  https://agent.acme.com https://agent.acme.com:8443/cloud-agent http://8.8.8.8:8085
  http://[2606:4700::1111]:8085 https://agent.acme.com./ https://xn--mnchen-3ya.de https://local.acme.com
`),
)('%s is public', (url) => expect(isPublicUrl(url)).toBe(true))

test.each(
  words(`
  http://localhost:8085 http://agent.localhost http://127.0.0.1:8085 http://0x7f.1/ http://[::1]:8085
  http://[::ffff:10.0.0.1]:8085 http://10.1.2.3 http://192.168.1.5:8085 http://169.254.1.1 http://[fe80::1]
  http://[fd00::1] http://agent:8085 http://agent.local:8085 http://agent.LOCAL.:8085
  http://host.docker.internal:8085 http://router.home.arpa http://nas.lan
`),
)('%s is not', (url) => expect(isPublicUrl(url)).toBe(false))
