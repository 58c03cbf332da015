/** The user the clients act as: the access key is the name; the secret is not looked at (spec §5.3). */
export const user = 'alice'

/** Another user, to whom nothing belongs. */
export const otherUser = 'bob'

/** What clients of the AWS family read from the environment. Profiles of the machine's own user are kept out. */
export function awsEnvironment(url: string, as: string = user): Record<string, string> {
  return {
    S3_ENDPOINT: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_ACCESS_KEY_ID: as,
    AWS_SECRET_ACCESS_KEY: 'unused',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_REGION: 'us-east-1',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
  }
}
