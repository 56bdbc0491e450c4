/** AnonCreds can be disabled by configuration, and the package with the library is optional. */
import type { Config } from '../base/config.ts'
import { Problem } from '../base/problem.ts'
import { isInstalled } from './library.ts'

const title = 'BadRequest_FeatureDisabled'

/** @throws {Problem} 400 `BadRequest` with the title `BadRequest_FeatureDisabled`. */
export function assertEnabled(
  { ENABLE_ANONCRED }: Pick<Config, 'ENABLE_ANONCRED'>,
  isAvailable = isInstalled,
): void {
  if (!ENABLE_ANONCRED)
    throw new Problem(
      'BadRequest',
      'AnonCreds is disabled. The operator enables it with ENABLE_ANONCRED=true.',
      { title },
    )
  if (!isAvailable())
    throw new Problem(
      'BadRequest',
      'AnonCreds needs the optional package @hyperledger/identus-sdk, which is not installed. The operator installs it with npm ci --include=optional.',
      { title },
    )
}
