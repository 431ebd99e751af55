// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title FeeOnTransferToken
/// @notice Burns one atomic unit of every transfer, the smallest shortfall an exact router has to notice. Contract
/// tests only.
contract FeeOnTransferToken is TestToken {
    constructor(address owner_) TestToken("Fee On Transfer", "FEE", 6, owner_) {}

    function _update(address from, address to, uint256 value) internal override {
        if (from == address(0) || to == address(0)) {
            super._update(from, to, value);
            return;
        }
        super._update(from, address(0), 1);
        super._update(from, to, value - 1);
    }
}
