// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title ReenteringToken
/// @notice While it is being transferred by the armed target, calls that target with the armed payload. Contract tests
/// only.
contract ReenteringToken is TestToken {
    address private _target;
    bytes private _payload;

    constructor(address owner_) TestToken("Reentering", "RE", 6, owner_) {}

    /// @notice Arms one call; it disarms itself, so that a target without a guard would see exactly one re-entry.
    function arm(address target, bytes calldata payload) external onlyOwner {
        _target = target;
        _payload = payload;
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        if (_target != address(0) && msg.sender == _target) {
            address target = _target;
            _target = address(0);
            (bool succeeded, bytes memory answer) = target.call(_payload);
            if (!succeeded) {
                assembly ("memory-safe") {
                    revert(add(answer, 0x20), mload(answer))
                }
            }
        }
        return super.transferFrom(from, to, value);
    }
}
