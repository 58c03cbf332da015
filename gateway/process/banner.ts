import { resolve } from 'node:path'
import type { Config } from '../config/properties.ts'
import type { Ready } from './ready.ts'

/** What a person needs to know after the start. */
export function banner(
  ready: Ready,
  config: Config,
  identity: 'enforced' | 'process',
  notes: readonly string[],
): string {
  const { endpoint, rootEndpoint, adminEndpoint } = ready
  const owner =
    identity === 'enforced'
      ? 'Files belong to the acting user, and the file system checks its permissions.'
      : 'Files belong to the user of this process; the owner kept with each bucket decides who may write.'
  const lines = [
    '',
    `S3 gateway over ${resolve(config.root)}`,
    '',
    `  endpoint  ${endpoint}`,
    ...(rootEndpoint ? [`  at /      ${rootEndpoint}   (for tools that refuse an endpoint with a path)`] : []),
    ...(adminEndpoint ? [`  admin     ${adminEndpoint}   (/livez /readyz /metrics)`] : []),
    '',
    'Who acts: the access key is the user name. Signatures are not checked, so any secret key does; without credentials',
    'requests act as the user of this process, and ListBuckets shows nothing.',
    owner,
    '',
    '  aws-cli   export AWS_ACCESS_KEY_ID=$USER AWS_SECRET_ACCESS_KEY=any AWS_REGION=us-east-1',
    `            export AWS_ENDPOINT_URL_S3=${endpoint}`,
    '            aws s3 mb s3://photos && aws s3 cp README.md s3://photos/ && aws s3 ls s3://photos/',
    "  boto3     boto3.client('s3', region_name='us-east-1', aws_access_key_id='alice', aws_secret_access_key='any',",
    `                         endpoint_url='${endpoint}')`,
    '',
    ...notes.flatMap((note) => [`Note: ${note}`, '']),
    'Ctrl-C finishes running requests and stops; a second one stops at once.',
    '',
  ]
  return `${lines.join('\n')}\n`
}
